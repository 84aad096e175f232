import { GantryError } from '../core/error.ts'

/** Why a cassette cannot be used: one that is missing or damaged breaks its case and no other. Throws any other error again. */
export function cassetteProblem(error: unknown): string {
  if (
    !(error instanceof GantryError) ||
    !['NOT_FOUND', 'INVALID_FILE', 'CORRUPT', 'USAGE'].includes(error.code)
  )
    throw error
  return [error.message, error.hint].filter(Boolean).join('. ')
}
