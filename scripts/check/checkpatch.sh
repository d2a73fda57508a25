# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
#
# Included by scripts/check/style and scripts/check/series.

# checkpatch types that are ignored, and why:
#  COMPLEX_MACRO, MACRO_ARG_REUSE  macros build tables, as for perf's attribute lists;
#                                  an initialiser cannot be parenthesised
#  SPLIT_STRING                    long messages in the selftests
#  INCLUDE_LINUX                   linux/cpufeature.h is empty on RISC-V, asm/cpufeature.h is not
#  LINUX_VERSION_CODE              one source is for 6.12 to 7.2 (compat.h)
#  ENOSYS                          the EBB return is an unknown system call while no handler runs
CHECKPATCH_IGNORE=COMPLEX_MACRO,MACRO_ARG_REUSE,SPLIT_STRING,INCLUDE_LINUX,LINUX_VERSION_CODE,ENOSYS
# In firmware only:
#  SPDX_LICENSE_TAG  OpenSBI has it in a block comment
#  MULTISTATEMENT_MACRO_USE_DO_WHILE  one that is used as a table of statements
#  PREFER_DEFINED_ATTRIBUTE_MACRO  OpenSBI does not have the kernel's macros
#  CAMELCASE  _Static_assert()
#  SPACING, LINE_SPACING  a pointer to a macro's type; a variable in a register
CHECKPATCH_IGNORE_FIRMWARE=$CHECKPATCH_IGNORE,SPDX_LICENSE_TAG,MULTISTATEMENT_MACRO_USE_DO_WHILE,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE,SPACING,LINE_SPACING
# In user space only:
#  BRACES    EXPECT_*() of the harness are loops and need braces before an else
#  SPACING   checkpatch mistakes FIXTURE_DATA() and 1e-9 for arithmetic
#  VOLATILE  variables that a signal handler writes (sig_atomic_t)
#  MULTISTATEMENT_MACRO_USE_DO_WHILE, MACRO_WITH_FLOW_CONTROL  a macro that defines a test
#  CAMELCASE  _Unwind_*() of the compiler's library
#  AVOID_EXTERNS  functions in assembly
#  PREFER_DEFINED_ATTRIBUTE_MACRO  programs do not have the kernel's macros
CHECKPATCH_IGNORE_USER=$CHECKPATCH_IGNORE,CAMELCASE,AVOID_EXTERNS,PREFER_DEFINED_ATTRIBUTE_MACRO,BRACES,SPACING,VOLATILE,MULTISTATEMENT_MACRO_USE_DO_WHILE,MACRO_WITH_FLOW_CONTROL
