/*
 * test_exp.c
 *	  Long numbers, bounds of exp, and the entropy buffer.
 */
#include <string.h>

#include "math/exp.h"
#include "math/exp_table.h"
#include "math/limbs.h"
#include "unit.h"

#include "known_exp.h"

#define MAX_LIMBS 12

/* random limbs, with long runs of zeros and ones among them */
static void
pseudo_limbs(uint64_t *a, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		switch (pseudo() % 4)
		{
			case 0:
				a[i] = 0;
				break;
			case 1:
				a[i] = ~UINT64_C(0);
				break;
			default:
				a[i] = pseudo() >> (pseudo() % 64);
		}
	}
}

static void
test_limbs(void)
{
	int			round;

	for (round = 0; round < 3000; round++)
	{
		int			na = 1 + pseudo() % 6;
		int			nb = 1 + pseudo() % 6;
		uint64_t	a[MAX_LIMBS],
					b[MAX_LIMBS],
					c[MAX_LIMBS],
					q[MAX_LIMBS],
					rem[MAX_LIMBS + 1],
					prod[2 * MAX_LIMBS],
					zero[MAX_LIMBS] = {0};
		uint64_t	shift = pseudo() % (64 * 13);

		pseudo_limbs(a, na);
		pseudo_limbs(b, nb);
		if (dp_limbs_cmp(b, zero, nb) == 0)
			b[0] = 1;

		/* a = q b + rem, rem < b */
		memcpy(q, a, na * sizeof(uint64_t));
		dp_limbs_divide(q, na, b, nb, rem);
		check(rem[nb] == 0 && dp_limbs_cmp(rem, b, nb) < 0,
			  "remainder not below the divisor, %d by %d limbs, round %d", na, nb, round);
		dp_limbs_mul(prod, q, na, b, nb);
		memset(c, 0, sizeof(c));
		memcpy(c, rem, nb * sizeof(uint64_t));
		dp_limbs_add(prod, prod, c, na + nb);
		memset(c, 0, sizeof(c));
		memcpy(c, a, na * sizeof(uint64_t));
		check(dp_limbs_cmp(prod, c, na + nb) == 0,
			  "quotient times divisor plus remainder, %d by %d limbs, round %d", na, nb, round);

		/* division by one limb is the same */
		memcpy(c, a, na * sizeof(uint64_t));
		memcpy(q, a, na * sizeof(uint64_t));
		if (b[0] != 0)
		{
			dp_limbs_divide(q, na, b, 1, rem);
			check(dp_limbs_div_small(c, na, b[0]) == rem[0],
				  "remainder of a short division, %d limbs, round %d", na, round);
			check(dp_limbs_cmp(c, q, na) == 0, "short division, %d limbs, round %d", na, round);
		}

		/* (a + b) - b = a */
		memset(c, 0, sizeof(c));
		memcpy(c, b, (nb < na ? nb : na) * sizeof(uint64_t));
		dp_limbs_add(q, a, c, na);
		dp_limbs_sub(q, q, c, na);
		check(dp_limbs_cmp(q, a, na) == 0, "addition and subtraction, %d limbs, round %d", na, round);

		/* shifts are products and quotients by a power of two */
		dp_limbs_shl(q, a, na, shift);
		memset(c, 0, sizeof(c));
		if (shift < (uint64_t) 64 * na)
			c[shift / 64] = UINT64_C(1) << (shift % 64);
		dp_limbs_mul(prod, a, na, c, na);
		check(dp_limbs_cmp(q, prod, na) == 0, "shift left by %d, %d limbs, round %d", (int) shift, na, round);
		dp_limbs_shr(q, a, na, shift);
		if (shift < (uint64_t) 64 * na)
		{
			memcpy(prod, a, na * sizeof(uint64_t));
			dp_limbs_divide(prod, na, c, na, rem);
			check(dp_limbs_cmp(q, prod, na) == 0, "shift right by %d, %d limbs, round %d", (int) shift, na, round);
		}
		else
			check(dp_limbs_cmp(q, zero, na) == 0,
				  "shift everything out, by %d, %d limbs, round %d", (int) shift, na, round);
	}
	check(dp_bitlen64(0) == 0 && dp_bitlen64(1) == 1 && dp_bitlen64(~UINT64_C(0)) == 64 &&
		  dp_bitlen128(u128(1, 0)) == 65 && dp_bitlen128(5) == 3, "bit lengths");
}

/* lo <= floor(2^(64 n) value) and value 2^(64 n) < hi, for the known value */
static void
check_known(int which, int n)
{
	uint64_t	num[2] = {known_exp[which].num[1], known_exp[which].num[0]};
	uint64_t	den[2] = {known_exp[which].den[1], known_exp[which].den[0]};
	uint64_t	lo[KNOWN_EXP_LIMBS + 1],
				hi[KNOWN_EXP_LIMBS + 1],
				truth[KNOWN_EXP_LIMBS + 1],
				width[KNOWN_EXP_LIMBS + 1];
	int			i;

	for (i = 0; i < n; i++)
		truth[n - 1 - i] = known_exp[which].limbs[i];
	truth[n] = known_exp[which].one ? 1 : 0;

	dp_exp_limbs(lo, hi, n, num, 2, den, 2);
	check(dp_limbs_cmp(lo, truth, n + 1) <= 0, "known exp %d in %d limbs: lower bound", which, n);
	/* truth was cut, so it has to be strictly below */
	check(dp_limbs_cmp(truth, hi, n + 1) < 0, "known exp %d in %d limbs: upper bound", which, n);
	dp_limbs_sub(width, hi, lo, n + 1);
	for (i = n; i > 0; i--)
		check(width[i] == 0, "known exp %d in %d limbs: wide bounds", which, n);
	check(width[0] <= 3, "known exp %d in %d limbs: width %d", which, n, (int) width[0]);
}

/* value of exp(-a / 2^64) 2^64 in two limbs more than dp_exp64 has */
static uint64_t
exp64_truth(dp_u128 a)
{
	uint64_t	num[2] = {(uint64_t) a, (uint64_t) (a >> 64)};
	uint64_t	den[2] = {0, 1};
	uint64_t	lo[4],
				hi[4];

	dp_exp_limbs(lo, hi, 3, num, 2, den, 2);
	return lo[3] == 0 ? lo[2] : ~UINT64_C(0);
}

static void
test_known(void)
{
	int			i,
				n;

	for (i = 0; i < (int) (sizeof(known_exp) / sizeof(known_exp[0])); i++)
	{
		for (n = 1; n <= KNOWN_EXP_LIMBS; n++)
			check_known(i, n);
	}
}

static void
test_exp64(void)
{
	int			i,
				n;
	const int	rounds = sized(20000, 20000, 4000);
	uint64_t	worst = 0;

	/* the table, which another program made */
	for (i = 1; i < 8; i++)
		for (n = 0; n < 6; n++)
			check(dp_exp_table[n][i] == exp64_truth(((dp_u128) i << 67) >> (3 * n)), "table row %d, %d", n, i);

	for (i = 0; i < rounds; i++)
	{
		dp_u128		a = pseudo128() % ((dp_u128) 46 << 64);
		uint64_t	y,
					truth,
					error;

		/* near the edges of the tables, too */
		if (i % 4 == 1)
			a = (a >> 52 << 52) + (pseudo() % 3) - 1;
		if (i % 4 == 2)
			a >>= pseudo() % 70;
		if (a >> 64 > 46)
			a = 0;
		y = dp_exp64(a);
		truth = exp64_truth(a);
		error = y > truth ? y - truth : truth - y;
		if (error > worst)
			worst = error;
	}
	/* the rest of DP_EXP64_ERROR is for the argument's own error */
	check(worst <= 14, "dp_exp64 is off by %d units", (int) worst);
	check(dp_exp64((dp_u128) DP_EXP64_LIMIT << 64) == 0 && dp_exp64(~(dp_u128) 0) == 0,
		  "dp_exp64 beyond its limit");
}

/* counts its calls, and fills with 1, 2, 3 ... */
static void
counting_fill(void *ctx, void *buf, size_t len)
{
	size_t		i;

	++*(int *) ctx;
	for (i = 0; i < len; i++)
		((unsigned char *) buf)[i] = (unsigned char) (i + 1);
}

static void
test_entropy(void)
{
	int			calls = 0;
	dp_entropy	e = {counting_fill, &calls, 0, {0}};
	size_t		i;
	bool		wiped = true;

	check(dp_entropy_take(&e, 8) == UINT64_C(0x0807060504030201), "eight bytes, the first is the least");
	check(dp_entropy_take(&e, 1) == 9, "one byte");
	check(dp_entropy_take(&e, 3) == 0x0c0b0a, "three bytes");
	check(dp_entropy_take(&e, 7) == UINT64_C(0x131211100f0e0d), "seven bytes");
	for (i = 0; i < DP_ENTROPY_BLOCK - e.left; i++)
		wiped &= e.buf[i] == 0;
	check(wiped, "bytes handed out are wiped");
	check(e.buf[DP_ENTROPY_BLOCK - e.left] == 20, "the next byte is still there");
	while (e.left >= 8)
		dp_entropy_take(&e, 5);
	check(calls == 1, "one call for a block");
	check(dp_entropy_take(&e, 2) == 0x0201 && calls == 2, "a new block starts from its first byte");
	check(e.left == DP_ENTROPY_BLOCK - 2, "bytes left");
}

/* What is drawn is the same whatever a machine's byte order is. */
static void
test_byte_order(void)
{
	dp_entropy	e;
	dp_entropy	other;
	long		differ = 0;

	entropy_os(&e);
	dp_entropy_take(&e, 1);
	other = e;
	while (e.left >= 8)
	{
		unsigned	bytes = 1 + (unsigned) (pseudo() % 8);

		differ += dp_entropy_take(&e, bytes) != bytewise_take(&other, bytes);
		differ += e.left != other.left || memcmp(e.buf, other.buf, DP_ENTROPY_BLOCK) != 0;
	}
	check(differ == 0, "%ld of the numbers taken depend on the order of bytes", differ);
}

void
exp_tests(void)
{
	RUN(test_limbs);
	RUN(test_known);
	RUN(test_exp64);
	RUN(test_entropy);
	RUN(test_byte_order);
}
