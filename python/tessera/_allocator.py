"""Has the native part keep memory that it freed for ten seconds; imported before everything else.

What is fitted or asked next takes the same memory. Given back after one second, which is usual, it had to be taken from the
system anew by every second call. The native part reads this once, when it is loaded, from the environment.
"""

import os

_NAME = "MIMALLOC_PURGE_DELAY"

if _NAME not in os.environ:
    os.environ[_NAME] = "10000"
    try:
        from . import _native as _native
    finally:
        del os.environ[_NAME]
