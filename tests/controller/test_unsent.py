"""The events that wait, beside a plain list of them."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from controller.events.eventseries import SeriesKey
from controller.events.unsent import Unsent

KEYS = st.builds(
    lambda uid, reason: (uid, "Normal", reason, ""), st.sampled_from("ab"), st.sampled_from("xyz")
)


class UnsentMachine(RuleBasedStateMachine):
    """Keys are added at the end, and leave from anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent = Unsent()
        self.model: list[SeriesKey] = []

    @rule(key=KEYS)
    def add(self, key: SeriesKey) -> None:
        if key in self.model:
            return
        self.unsent.add(key)
        self.model.append(key)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.model))
        self.unsent.remove(key)
        self.model.remove(key)

    @precondition(lambda self: self.model)
    @rule()
    def crowd_out(self) -> None:
        """The newest stays, if there is any other."""
        newest = self.model[-1]
        own = [key for key in self.model if key[0] == newest[0] and key != newest]
        least = self.unsent.least_needed(newest)
        assert least == (own or self.model)[0]
        self.unsent.remove(least)
        self.model.remove(least)

    @invariant()
    def they_are_the_same(self) -> None:
        assert list(self.unsent) == self.model
        assert len(self.unsent) == len(self.model)
        assert all(key in self.unsent for key in self.model)
        assert ("c", "Normal", "x", "") not in self.unsent


TestUnsent = UnsentMachine.TestCase
