// This library has no functions. A program that links it is marked as a test.
#pragma once
