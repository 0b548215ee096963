"""The operations of workers: one file each, `run(params, images) -> (result, images)`.

`params` is what TypeScript sent, `images` a list of [H, W, 3] uint8 RGB. `result` is anything that JSON
has, and the images returned are uint8 [H, W, 3] or [H, W]. `raise Declined(type, message)` where the
operation cannot do what it is asked. Results are the same for the same arguments.
"""
