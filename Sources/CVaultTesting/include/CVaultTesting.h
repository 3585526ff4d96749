// Nothing to call: that the library is linked is what it says.
#pragma once
