"""The error of an operation that cannot do what it is asked, through no fault of its own."""


class Declined(Exception):
    """The call gets an outcome of this type instead of an invented answer.

    type:    a word such as `CannotAnswer`, which metrics count
    message: one sentence for the fact, one for the remedy; the model reads it
    """

    def __init__(self, type, message):
        super().__init__(message)
        self.type = type
        self.message = message
