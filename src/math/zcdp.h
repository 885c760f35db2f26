/*-------------------------------------------------------------------------
 *
 * zcdp.h
 *	  Conversions between zCDP and (epsilon, delta), with directed rounding.
 *
 * Part of math/: no PostgreSQL header may be included here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ZCDP_H
#define DP_ZCDP_H

/*
 * Tight bounds of CKS Proposition 12 / Corollary 13.  rho >= 0, epsilon >= 0,
 * 0 <= delta <= 1, all finite; the limits (delta = 0, delta = 1, rho = 0) are
 * the limits.  Never NaN.  The _up variants are never below the true value,
 * the _down variants never above it.
 *
 * (xi, rho)-zCDP with xi other than 0 is converted with epsilon - xi in the
 * place of epsilon; that may be negative for dp_zcdp_delta, and for
 * dp_zcdp_rho while it is at least ln(1 - delta).
 */
extern double dp_zcdp_epsilon(double rho, double delta);
extern double dp_zcdp_epsilon_up(double rho, double delta);
extern double dp_zcdp_delta(double rho, double epsilon);
extern double dp_zcdp_delta_up(double rho, double epsilon);
extern double dp_zcdp_rho(double epsilon, double delta);
extern double dp_zcdp_rho_down(double epsilon, double delta);

/* dp_zcdp_epsilon before it is cut off at 0, for adding xi; -Infinity .. */
extern double dp_zcdp_epsilon_raw(double rho, double delta);

#endif							/* DP_ZCDP_H */
