"""Videos for sessions: a reader with decord's interface over PyAV, exact to the frame.

The reader is made in the session's own process: a decoder that was open at a fork deadlocks or loses
its place. It has one thread, for the limits on processes and address space are a session's, and it
reads a memory map: the file itself is out of the session's reach.
"""

import bisect
import importlib.util
import io
import os
import sys
import types
from collections import OrderedDict

import numpy

from video_files import map_file

# Pixels of frames that are kept, so that looking at the same frames again decodes nothing.
CACHE_BYTES = 64 * 1024 * 1024


class VideoError(Exception):
    """A video that cannot be read, or is larger than allowed."""


class Frame(numpy.ndarray):
    """An image of height x width x 3, RGB, as numpy and Pillow take it; decord's word on top."""

    def asnumpy(self):
        return numpy.array(self)


class Bytes(io.RawIOBase):
    """A file over bytes that several readers share: each has a place of its own in them."""

    def __init__(self, data):
        self.data = data
        self.place = 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def read(self, size=-1):
        end = len(self.data) if size < 0 else min(len(self.data), self.place + size)
        chunk = self.data[self.place : end]
        self.place = max(self.place, end)
        return bytes(chunk)

    def seek(self, offset, whence=io.SEEK_SET):
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: len(self.data)}[whence]
        return self.place

    def tell(self):
        return self.place


class VideoReader:
    """`len(reader)` frames; `reader[i].asnumpy()` is frame i, in the order in which they are shown.

    `ctx`, `num_threads` and `fault_tol` are decord's and change nothing here. A width and a height
    above 0 scale the frames.
    """

    # Set when the session starts: its limits, and the bytes of its videos by name.
    limits = None
    films = {}

    def __init__(self, uri, ctx=None, width=-1, height=-1, num_threads=0, fault_tol=-1):
        self._size = (width, height) if width > 0 and height > 0 else None
        self.path = os.fspath(uri) if isinstance(uri, (str, os.PathLike)) else None
        self._container = None
        self._cache = OrderedDict()
        self._cached_bytes = 0
        # A frame that was decoded to see where a search had led.
        self._waiting = None
        try:
            self._open(uri)
            self._measure()
            self._index()
        except VideoError:
            self.close()
            raise

    def _open(self, uri):
        try:
            import av
            from av.video.reformatter import VideoReformatter
        except ImportError:
            raise VideoError("this Python has no PyAV (`av`), which needs 3.11 or newer") from None
        self._scaler = VideoReformatter()
        self._errors = (av.FFmpegError, EOFError)
        name = self.path or "it"
        try:
            if self.path is None:
                self._data = uri
            elif self.path in self.films:
                self._data = Bytes(self.films[self.path])
            else:
                self._data = Bytes(map_file(self.path))
            self._begin()
        except FileNotFoundError:
            raise VideoError(f"there is no video at {name}") from None
        except (*self._errors, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise VideoError(f"{name} is no video: {reason}") from None

    def _begin(self):
        import av

        if self._container is not None:
            self._container.close()
        self._data.seek(0)
        self._container = av.open(self._data, metadata_errors="ignore")
        if not self._container.streams.video:
            raise VideoError(f"{self.path or 'the file'} has no pictures")
        self._stream = self._container.streams.video[0]
        self._stream.codec_context.thread_type = "NONE"
        self._stream.codec_context.thread_count = 1

    def _measure(self):
        context = self._stream.codec_context
        self._width, self._height = context.width, context.height
        if self.limits is None:
            return
        most = self.limits["imagePixels"]
        if self._width * self._height > most:
            raise VideoError(
                f"its frames of {self._width}x{self._height} are more than {most} pixels"
            )

    def _index(self):
        """Times of all frames in the order in which they are shown, and which can be begun from.

        Packets tell without decoding. Where a packet is no frame of its own, or says no time, the
        frames are counted by decoding them once.
        """
        most = None if self.limits is None else self.limits["videoFrames"]
        times, keys = [], []
        try:
            for packet in self._container.demux(self._stream):
                if packet.size == 0 or packet.is_discard:
                    continue
                times.append(packet.pts)
                if packet.is_keyframe and packet.pts is not None:
                    keys.append(packet.pts)
                if most is not None and len(times) > most:
                    raise VideoError(f"it has more than {most} frames")
        except self._errors as error:
            if not times:
                raise VideoError(f"its frames cannot be read: {error}") from None
        known = [time for time in times if time is not None]
        self._times, self._keys = sorted(known), sorted(keys)
        self._can_seek = (
            len(known) == len(times)
            and len(set(known)) == len(known)
            and self._keys[:1] == self._times[:1]
        )
        # Where it is first asked for a frame, it winds to it.
        self._position = None
        if not self._can_seek:
            self._count_by_decoding(most)
        if not self._times:
            raise VideoError("it has no frame")

    def _count_by_decoding(self, most):
        self._restart()
        self._can_seek = False
        self._times, self._keys = [], []
        while (frame := self._next()) is not None:
            self._times.append(frame.pts)
            if most is not None and len(self._times) > most:
                raise VideoError(f"it has more than {most} frames")
        self._restart()

    def _restart(self, time=None):
        """The next frame decoded is the one at `time`, a key frame's, or an earlier one."""
        if time is None:
            # Not every format can be wound back by a time, but all can be opened again.
            self._begin()
            self._position = 0
        else:
            self._container.seek(time, stream=self._stream, backward=True, any_frame=False)
            self._position = None
        self._decoding = self._container.decode(self._stream)

    def _next(self):
        """The next decoded frame, or None at the end or where the rest is broken."""
        try:
            return next(self._decoding)
        except (StopIteration, *self._errors):
            return None

    # --- what decord's reader has ---

    def __len__(self):
        return len(self._times)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.get_batch(range(*index.indices(len(self))))
        return self._frame(self._place(index)).copy().view(Frame)

    def __iter__(self):
        for index in range(len(self)):
            yield self[index]

    def __repr__(self):
        return f"VideoReader({len(self)} frames of {self._width}x{self._height})"

    def get_batch(self, indices):
        """The frames at `indices` as one [N, height, width, 3]."""
        places = [self._place(index) for index in indices]
        if not places:
            raise ValueError("get_batch needs at least one index")
        found = {place: self._frame(place) for place in sorted(set(places))}
        return numpy.stack([found[place] for place in places]).view(Frame)

    @property
    def data(self):
        """The bytes of the file, for those who read it otherwise."""
        return self._data.data

    def get_avg_fps(self):
        rate = self._stream.average_rate or self._stream.guessed_rate
        return float(rate) if rate else 0.0

    def get_frame_timestamp(self, index):
        """Seconds from the video's start at which a frame appears and at which it is replaced."""
        if isinstance(index, slice):
            index = range(*index.indices(len(self)))
        if hasattr(index, "__iter__"):
            return numpy.stack([self.get_frame_timestamp(one) for one in index])
        place = self._place(index)
        start = self._seconds(place)
        fps = self.get_avg_fps()
        is_last = place + 1 == len(self)
        end = start + (1 / fps if fps else 0) if is_last else self._seconds(place + 1)
        return numpy.array([start, end])

    def get_key_indices(self):
        return [bisect.bisect_left(self._times, time) for time in self._keys]

    def close(self):
        if self._container is not None:
            self._container.close()
        self._cache.clear()

    # --- frames ---

    def _seconds(self, place):
        time = self._times[place]
        if time is None:
            fps = self.get_avg_fps()
            return place / fps if fps else 0.0
        return float((time - (self._times[0] or 0)) * self._stream.time_base)

    def _place(self, index):
        try:
            place = index.__index__()
        except AttributeError:
            kind = type(index).__name__
            raise TypeError(f"a frame's index is a whole number, got {kind}") from None
        count = len(self)
        if not -count <= place < count:
            raise IndexError(
                f"frame {place} is out of range: the video has {count} frames, 0 to {count - 1}"
            )
        return place % count

    def _frame(self, place):
        array = self._cache.get(place)
        if array is not None:
            self._cache.move_to_end(place)
            return array
        array = self._pixels(self._decoded(place))
        self._cache[place] = array
        self._cached_bytes += array.nbytes
        while self._cached_bytes > CACHE_BYTES and len(self._cache) > 1:
            self._cached_bytes -= self._cache.popitem(last=False)[1].nbytes
        return array

    def _pixels(self, frame):
        width, height = self._size or (None, None)
        # Left alone, scaling starts as many threads as there are processors.
        scaled = self._scaler.reformat(frame, width, height, format="rgb24", threads=1)
        return scaled.to_ndarray()

    def _decoded(self, place):
        if self._can_seek:
            frame = self._sought(place)
            if frame is not None:
                return frame
            # A packet that is no frame, or a format that cannot be wound: from here on in plain order.
            most = None if self.limits is None else self.limits["videoFrames"]
            before = len(self._times)
            self._count_by_decoding(most)
            if place >= len(self._times):
                raise VideoError(
                    f"frame {place} cannot be decoded: of {before} frames "
                    f"{len(self._times)} can. Look at an earlier one."
                )
        if self._position is None or self._position > place:
            self._restart()
        while (frame := self._next()) is not None:
            self._position += 1
            if self._position > place:
                return frame
        raise VideoError(f"frame {place} cannot be decoded. Look at another one.")

    def _sought(self, place):
        """The frame found by its time; None if it does not come where it should."""
        time = self._times[place]
        key = bisect.bisect_right(self._keys, time) - 1
        is_ahead = self._position is not None and self._keys[key] <= self._time_at() <= time
        if not is_ahead:
            if not self._go_before(time, key):
                return None
        frame = self._waiting or self._next()
        self._waiting = None
        while frame is not None and frame.pts is not None and frame.pts < time:
            frame = self._next()
        if frame is None or frame.pts != time:
            self._position = None
            return None
        self._position = place + 1
        return frame

    def _time_at(self):
        place = self._position
        return self._times[place] if place < len(self._times) else float("inf")

    def _go_before(self, time, key):
        """Winds to the last place from which decoding reaches `time`."""
        while key >= 0:
            try:
                self._restart(self._keys[key])
            except self._errors:
                return False
            self._waiting = self._next()
            if self._waiting is not None and self._waiting.pts is not None:
                if self._waiting.pts <= time:
                    return True
            key -= 1
        self._restart()
        self._waiting = None
        return True


def open_readers(films, limits):
    """The session's videos as readers, by name. Raises VideoError naming the one at fault."""
    VideoReader.limits, VideoReader.films = limits, films
    readers = {}
    for name in films:
        try:
            readers[name] = VideoReader(name)
        except VideoError as error:
            raise VideoError(f"The video {name} cannot be opened: {error}") from None
    return readers


def install():
    """`from decord import VideoReader` means this reader, unless the environment has decord."""
    if importlib.util.find_spec("decord") is not None:
        return
    decord = types.ModuleType("decord", "decord's reader, over PyAV.")
    decord.VideoReader = VideoReader
    decord.DECORDError = VideoError
    decord.cpu = lambda device_id=0: ("cpu", device_id)
    decord.gpu = _no_gpu
    bridge = types.ModuleType("decord.bridge", "Frames are numpy's.")
    bridge.set_bridge = _set_bridge
    decord.bridge = bridge
    sys.modules["decord"], sys.modules["decord.bridge"] = decord, bridge


def _no_gpu(device_id=0):
    raise VideoError("there is no GPU here. Use decord.cpu().")


def _set_bridge(name):
    if name not in ("native", "numpy"):
        raise VideoError(f'frames cannot become {name}: use "native" and frame.asnumpy().')
