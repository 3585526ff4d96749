// Nothing to call: linking the library is enough.
#pragma once
