"""A finished run as the frames that the page reads, without a server."""

import struct

import pushforward as pf
from pushforward.web import _caps
from pushforward.web.computing._record import Recorder
from pushforward.web.state._given import as_tokens


def packed_frames(frames: list[bytes]) -> bytes:
    """All frames in one piece: before each stands its length, u32, little endian."""
    return b"".join(struct.pack("<I", len(frame)) + frame for frame in frames)


def recorded_frames(trajectory: pf.Trajectory, beta: float, radius: float):
    """The frames as bytes, and how the run ended."""
    frames: list[bytes] = []
    n = as_tokens(trajectory.final).n
    recorder = Recorder(n, beta, radius, lambda frame, points: frames.append(frame))
    recorder.replay(trajectory, _caps.MOST_FRAMES)
    recorder.flush(last=True)
    done = recorder.summary(trajectory)
    return frames, {**done, "variance": recorder.variance}
