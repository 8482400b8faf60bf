"""How much one page may ask for: sizes, memory, time, sockets and rates."""

from pushforward.experiments import CONTROLS

MOST_TOKENS, MOST_DIMENSIONS, MOST_FRAMES, MOST_HEADS = (
    int(CONTROLS[key].high or 0) for key in ("n", "d", "frames", "heads")
)
LARGEST_ENTRY = 100.0  # of a V that is given by numbers
MOST_EIGENVALUES = 16  # of a diagonal V that is given number by number
MOST_MATRIX = 4  # rows of a V that is given entry by entry
MOST_SHOWN = 16  # coordinates of a frame that reach the page
MOST_WORK = 1e8  # n^2 d: one evaluation of the field takes a tenth of a second
RUN_BYTES = 256 * 2**20  # float64 points of all frames of one run
MEMORY_BYTES = 384 * 2**20  # finished runs that are kept in memory
DISK_BYTES = 2 * 2**30  # finished runs that are kept on disk
DISK_RUNS = 256
LONGEST_TIME = 1e5  # without merging, steps are bounded by the fastest cluster
MOST_STEPS = 1e5  # of a solver with a fixed step
WORKER_BYTES = 1536 * 2**20  # held by a worker, above which it is started anew
HEADER_SECONDS = 10.0  # in which a request must have said what it wants
LAST_SECONDS = 15.0  # in which a server that was asked to end has ended
LONG_SECONDS = 2.0  # of computing, for which short runs do not wait
PICTURE_SECONDS = 10.0  # about what a film or a phase diagram takes
RUN_SECONDS = 180.0  # of computing, after which a run is stopped
WINDOW = 32  # frames on the way that the page has not acknowledged
SOCKETS = 96
MESSAGE_BYTES = 256 * 1024  # of one message from the page
UPLOAD_BYTES = 64 * 2**20
UPLOADS = 32  # files kept at a time
QUEUE = 128  # runs that wait for the worker
MESSAGES_PER_SECOND = 400.0  # from one socket, acknowledgements included
RUNS_PER_SECOND = 20.0  # from one socket
REQUESTS_PER_SECOND = 300.0  # to the server, all pages together
MATRIX = 256  # rows of an attention matrix that are sent as they are
BUCKETS = (8, 16, 32, 64, 128, 256, 512, 1024)  # sizes that are compiled
