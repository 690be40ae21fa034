"""What all tests share."""

import os
import sys
from pathlib import Path

# Tests are imported by their files, so what they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))

# scikit-learn leaves checks of array libraries out without it; SciPy reads it when it is imported.
os.environ["SCIPY_ARRAY_API"] = "1"
