"""Classes that may come at any time."""

import numpy as np


class KnownClasses:
    """Gives an estimator ``classes_``, sorted, and each class its number in the order of coming."""

    def _number(self, y):
        """The number of the class of each label; classes that are new become known."""
        found = np.unique(y)
        if not hasattr(self, "classes_"):
            self.classes_, self._numbers = found, np.arange(len(found))
        new = np.setdiff1d(found, self.classes_)
        if len(new):
            classes = np.concatenate([self.classes_, new])
            numbers = np.concatenate([self._numbers, len(self.classes_) + np.arange(len(new))])
            order = np.argsort(classes, kind="stable")
            self.classes_, self._numbers = classes[order], numbers[order]
        return self._numbers[np.searchsorted(self.classes_, y)]

    def _forget_classes(self):
        for name in ["classes_", "_numbers"]:
            self.__dict__.pop(name, None)
