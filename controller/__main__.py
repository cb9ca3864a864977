"""`python -m controller` is `lldap-operator`."""

import sys

from controller.cli import main

sys.exit(main())
