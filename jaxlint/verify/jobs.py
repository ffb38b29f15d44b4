"""What is asked of a child process and what it answers: plain values that travel as JSON.

Nothing here is pickled, so that a program that went wrong in the child cannot run code in the linter's process.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

WARM_CALLS = 3
"""How often each callable is called to count what it compiles."""

TRAIL, ORIGINAL, FIXED = "trail.txt", "original", "fixed"
"""The file in a replay's folder that tells what was called last and with what; of the original, varied inputs alone."""


def shortened(text: str, length: int) -> str:
    """The text, which ends with a whole word where it is longer than that."""
    if len(text) <= length:
        return text
    return f"{text[:length].rpartition(' ')[0] or text[:length]} …"


class World(str, Enum):  # noqa: UP042
    """Which JAX the user's program sees. All but `real` serve as references and are never called the program itself."""

    REAL = "real"
    RESTORED = "restored"  # removed names are put back, as their documented replacements
    EAGER = "eager"  # jit runs eagerly on arrays, nothing is donated
    LOOPS = "loops"  # eager, and vmap, scan, cond, while_loop, fori_loop, switch and map are Python loops
    LENIENT = "lenient"  # the same, and transforms take what JAX refuses, read in the plain way
    NEUTRAL = "neutral"  # random draws do not depend on the key
    NEUTRAL_LOOPS = "neutral loops"  # the same in Python loops, so that each example and each step draws other numbers
    WIDE = "wide"  # 64-bit types are switched on
    DOUBLE = "double"  # 64-bit numbers, and the same random draws

    @property
    def is_python(self) -> bool:
        """Whether control flow and vmap run as Python, which does not make the types of branches agree."""
        return self in (World.LOOPS, World.LENIENT, World.NEUTRAL_LOOPS)

    @property
    def ignores_keys(self) -> bool:
        """Whether random draws do not depend on their keys."""
        return self in (World.NEUTRAL, World.NEUTRAL_LOOPS)


class Data(str, Enum):  # noqa: UP042
    """Which numbers the arrays hold that the program makes itself."""

    OWN = "own"
    SHIFTED = "shifted"  # a fixed pattern is added to each
    SCALED = "scaled"  # each is multiplied by a fixed pattern, so that zeros and signs stay


class Start(str, Enum):  # noqa: UP042
    """What a command starts."""

    SCRIPT = "script"  # a file
    MODULE = "module"  # by its name, as `python -m` does
    CODE = "code"  # text, as `python -c` does


class Command(Struct, frozen=True):
    """A command of the user that starts Python: its text, the folder that it runs in, what it starts, and arguments."""

    text: str
    folder: str
    start: Start
    what: str
    args: tuple[str, ...] = ()


class Target(Struct, frozen=True):
    """A callable of the file that the change touches (`direct`), or that calls one that it touches."""

    name: str
    direct: bool
    entry: bool  # nothing else in the file uses it, so that only a made-up call can reach it


class Range(Struct, frozen=True, array_like=True):
    """Lines `first` to `last`, both included; with `columns`, the expression from the one to the other (in bytes)."""

    first: int
    last: int
    columns: tuple[int, int] | None = None


class ProgramJob(Struct, frozen=True, tag="program"):
    """Run one version of the file as a whole."""

    path: str
    text: str
    world: World = World.REAL
    data: Data = Data.OWN
    watch: tuple[Range, ...] = ()
    log_keys: bool = False
    log_errors: bool = False


class Example(Struct, frozen=True):
    """Arguments that the file declares for one of its callables: text to be evaluated, and the comment's line."""

    name: str
    text: str
    line: int


class Factory(Struct, frozen=True):
    """Arguments that the configuration declares: the `module:name` of a callable, and that of what makes them."""

    name: str
    source: str


class Declared(Struct, frozen=True):
    """What the user gives to call the file's callables with.

    `root` is the folder that factories are imported from; the command is run with recorders around the callables.
    """

    examples: tuple[Example, ...] = ()
    factories: tuple[Factory, ...] = ()
    root: str = ""
    command: Command | None = None
    command_s: float = 60.0  # how long it may run


class ReplayJob(Struct, frozen=True, tag="replay"):
    """Run both versions in one process and call the same functions with the same arguments."""

    path: str
    before: str
    after: str
    targets: tuple[Target, ...]
    before_world: World = World.REAL
    after_world: World = World.REAL
    watch: tuple[Range, ...] = ()
    gone: tuple[Range, ...] = ()  # what the original must have run
    measure: bool = True
    heal: bool = False
    gentle: bool = False  # the same inputs only, since a loop may not end with others
    constants: tuple[float, ...] = ()
    called: tuple[str, ...] = ()  # must be called with the same arguments by both versions
    declared: Declared = Declared()
    seed: int = 0
    log_keys: bool = False  # count how keys are used, instead of comparing


Job = ProgramJob | ReplayJob


class Fault(Struct, frozen=True):
    """An exception that ended a run: its type's name, its message, and the innermost line in the user's file."""

    type: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        first = self.message.strip().splitlines()[0] if self.message.strip() else ""
        return shortened(f"{self.type}: {first}", 240) if first else self.type


class Leaf(Struct, frozen=True):
    """One value of a result: an array (its numbers are stored apart), a number, a text, or only a type's name."""

    path: str
    kind: str  # array, key, number, text, other, deleted
    dtype: str = ""
    shape: tuple[int, ...] = ()
    weak: bool = False
    text: str = ""


class Draws(Struct, frozen=True):
    """How often random keys were consumed, and how many different keys that were."""

    consumed: int = 0
    distinct: int = 0

    @property
    def repeated(self) -> int:
        """How often a key was used that was used before."""
        return self.consumed - self.distinct


class ProgramResult(Struct, frozen=True, tag="program"):
    """What one run of the whole program left behind."""

    leaves: tuple[Leaf, ...] = ()
    fault: Fault | None = None
    status: int = 0
    hits: tuple[int, ...] = ()  # indexes of the watched ranges that ran
    outside: tuple[int, ...] = ()  # of these, those that ran outside of functions
    compiles: int = 0
    traces: int = 0
    draws: Draws = Draws()
    errors: tuple[Fault, ...] = ()  # that passed through the program's own code, caught or not
    removed: int = 0  # how often functions were called that this JAX no longer has, and that were put back
    varied: int = 0  # how many arrays were given other data
    note: str = ""  # why the run is no evidence, when it is none
    unserved: str = ""  # how something other than this version was run, when something was


class Timing(Struct, frozen=True):
    """The paired ratio before/after of processor time with its interval."""

    ratio: float
    low: float
    high: float
    faster: bool
    slower: bool
    rounds: int
    calls: int
    ratios: tuple[float, ...] = ()  # one a round, in their order


class Gap(Struct, frozen=True):
    """The difference that comes nearest to what is allowed, and what is; `exact` when both are taken from 64 bits."""

    error: float
    allowed: float
    exact: bool = False


class CallResult(Struct, frozen=True):
    """What calling one target in both versions showed."""

    name: str
    outcome: (
        str  # same, different, unclear, healed (before raises, after does not), called otherwise, doubtful, skipped
    )
    why: str = ""
    inputs: dict[str, int] = {}  # source → input sets on which both returned and the values were compared
    max_abs: float = 0.0
    fault: Fault | None = None  # what the original raised
    compiles: tuple[int, int] | None = None  # in WARM_CALLS calls
    traces: tuple[int, int] | None = None
    timing: Timing | None = None
    gap: Gap | None = None
    removed: tuple[int, int] = (0, 0)  # calls of functions that were put back, where both returned
    draws: tuple[Draws, Draws] | None = None  # within calls, where keys are logged


class ReplayResult(Struct, frozen=True, tag="replay"):
    """The answers for all targets."""

    calls: tuple[CallResult, ...] = ()
    before_fault: Fault | None = None
    after_fault: Fault | None = None
    hits: tuple[int, ...] = ()  # that ran outside of functions, or in calls whose results were compared
    gone: tuple[int, ...] = ()  # that the original ran in such calls
    problems: tuple[str, ...] = ()  # what is wrong with declared arguments
    unserved: str = ""  # see `ProgramResult`


Result = ProgramResult | ReplayResult


class Limits(Struct, frozen=True):
    """What one job may use."""

    wall_s: float = 120.0
    memory_mb: int = 8192
    file_mb: int = 64


class Request(Struct, frozen=True):
    """A job with its own folder and its limits, as sent to the server process."""

    folder: str
    limits: Limits
    job: Job


class Reply(Struct, frozen=True):
    """How the job's process ended; the result itself lies in the job's folder."""

    status: int  # exit status, negative for a signal
    timed_out: bool
    seconds: float


class Ready(Struct, frozen=True):
    """What the server says when it has started: the JAX version and the accelerator, or why there is none."""

    jax: str = ""
    hardware: str = ""
    problem: str = ""
