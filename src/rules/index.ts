import type { Rule } from './contract.ts'

/** Every rule, in the order in which they speak. */
export const rules: readonly Rule[] = []
