"""What all machines do that play sequences on the bed: restarts and time."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.support.bed import Bed


class BedMachine(RuleBasedStateMachine):
    """A machine around a bed; `steps` counts those of all machines of a class."""

    steps = 0
    bed: Bed

    @rule()
    def restart(self) -> None:
        self.bed.start()

    @rule(rounds=st.integers(0, 5))
    def work_a_little(self, rounds: int) -> None:
        for _ in range(rounds):
            self.bed.step()

    @rule(seconds=st.sampled_from((0, 12, 700)))
    def wait(self, seconds: int) -> None:
        self.bed.run(seconds, step=max(1.0, seconds / 20))

    @invariant()
    def count(self) -> None:
        type(self).steps += 1

    def rest(self, step: float, quiet_step: float) -> None:
        """Let all come to its end; then a resync finds nothing to do."""
        self.bed.run(30)
        self.bed.run(1500, step=step)
        self.bed.clear_logs()
        self.bed.run(700, step=quiet_step)
        assert self.bed.mutations() == []
        assert self.bed.api_writes() == []
