import { GantryError } from '../core/error.ts'

/** The error with a hint how to resume the run. `command` takes the id of the run. */
export function withResumeHint(
  error: unknown,
  run: { readonly id: string; readonly dir: string },
  command: string,
): unknown {
  // A usage error would only happen again.
  if (!(error instanceof GantryError) || error.code === 'USAGE') return error
  if (error.hint?.includes(command) === true) return error
  const hint = `What is finished is kept in ${run.dir}; go on with: ${command} ${run.id}`
  return new GantryError(error.code, error.message, {
    hint: error.hint === undefined ? hint : `${error.hint} ${hint}`,
    cause: error,
    ...(error.at !== undefined && { at: error.at }),
  })
}
