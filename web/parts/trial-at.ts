/** The trial of a directory. Its path names the run. */
export function trialAt(dir: string | null): { readonly run: string; readonly trial: string } | null {
  const [, run, trial] = /[/\\]([^/\\]+)[/\\]trials[/\\]([^/\\]+)$/.exec(dir ?? '') ?? []
  return run === undefined || trial === undefined ? null : { run, trial }
}
