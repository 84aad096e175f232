import { GantryError } from '../../core/error.ts'

/** For the agent and the person behind it: what is wrong and what mends it. Of a bug of ours also where it is. */
export function whyFailed(error: unknown): string {
  if (error instanceof GantryError) {
    return error.hint === undefined ? error.message : `${error.message}. ${error.hint}`
  }
  if (!(error instanceof Error)) return String(error)
  const where = error.stack?.split('\n').find((line) => line.trim().startsWith('at '))
  return where === undefined ? error.message : `${error.message} (${where.trim()})`
}
