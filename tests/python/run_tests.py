# SPDX-License-Identifier: Apache-2.0
"""All tests of the Python package: run_tests.py [TestCase.test_name ...]."""
from captures_test import *  # noqa: F403
from documents_test import *  # noqa: F403
from profiling_test import *  # noqa: F403
from tools_test import *  # noqa: F403
from torch_test import *  # noqa: F403

import processes

processes.main()
