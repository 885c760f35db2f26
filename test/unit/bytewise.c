/*
 * bytewise.c
 *	  Random bits as machines take them whose words do not begin with the least
 *	  byte: the only place of src/math that asks for the order of bytes.
 */
#define DP_ENTROPY_BYTEWISE
#include "unit.h"

uint64_t
bytewise_take(dp_entropy *e, unsigned bytes)
{
	return dp_entropy_take(e, bytes);
}
