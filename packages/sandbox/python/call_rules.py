"""Rules for the arguments of system calls, as far as a filter can see them."""

EPERM, EINVAL, ENOTTY, ENOSYS = 1, 22, 25, 38


class OneOf:
    """The argument, or its bits in `mask`, is one of `values`. Kernels take 32 bits of it unless `is_wide`."""

    def __init__(self, argument, values, mask=None, is_wide=False, otherwise=EPERM):
        self.argument, self.values, self.mask = argument, values, mask
        self.is_wide, self.otherwise = is_wide, otherwise

    def accepts(self, value):
        value &= 0xFFFF_FFFF_FFFF_FFFF if self.is_wide else 0xFFFF_FFFF
        return (value if self.mask is None else value & self.mask) in self.values


class NoneOf:
    """The argument has none of these bits."""

    def __init__(self, argument, bits):
        self.argument, self.bits, self.otherwise = argument, bits, EPERM

    def accepts(self, value):
        return not value & self.bits
