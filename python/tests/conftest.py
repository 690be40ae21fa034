"""What all tests share."""

import os

# scikit-learn leaves checks of array libraries out without it; SciPy reads it when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"
