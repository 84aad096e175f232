import type { FindingCode } from '../finding-codes.ts'

/** Writes something down about the handler at hand. */
export type Add = (
  code: FindingCode,
  message: string,
  suggestion: string,
  severity?: 'warning' | 'info',
) => void
