"""The master of `benders`: the fewest records that meet every cut known so far."""

import highspy
import numpy as np

from shoal.arrays import BoolArray, FloatArray


class Cover:
    """Minimum set cover over the cuts so far, by HiGHS."""

    def __init__(self, given_up: BoolArray) -> None:
        self.n = len(given_up)
        self.whole_now = False
        self.highs = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.999)):
            self.highs.setOptionValue(option, value)  # a cover is a whole number: a gap below 1 closes it
        for i in range(self.n):
            self.highs.addVar(float(given_up[i]), 1.0)
            self.highs.changeColCost(i, 1.0)

    def add(self, records: tuple[int, ...]) -> None:
        self.highs.addRow(1.0, highspy.kHighsInf, len(records), np.array(records, np.int32), np.ones(len(records)))

    def relaxed(self, seconds: float) -> tuple[FloatArray, float]:
        """The fractional cover and its size."""
        self._run(False, seconds)
        solved = self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return self._values(), self.highs.getInfo().objective_function_value if solved else 0.0

    def whole(self, seconds: float, known: BoolArray) -> tuple[FloatArray, float]:
        """A cover, and how many records every cover has at least."""
        solution = highspy.HighsSolution()
        solution.col_value = known.astype(float).tolist()
        self._run(True, seconds, solution)
        return self._values(), self.highs.getInfo().mip_dual_bound

    def _run(self, whole: bool, seconds: float, solution: highspy.HighsSolution | None = None) -> None:
        if whole != self.whole_now:
            kind = highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
            for i in range(self.n):
                self.highs.changeColIntegrality(i, kind)
            self.whole_now = whole
        if solution is not None:
            self.highs.setSolution(solution)
        self.highs.setOptionValue("time_limit", max(seconds, 0.0))
        self.highs.run()

    def _values(self) -> FloatArray:
        return np.array(self.highs.getSolution().col_value[: self.n])
