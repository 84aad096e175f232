import { isAbsolute } from 'node:path'

/** Why a file of the project may not name this directory; null when it may. Where links lead is looked at when it is used. */
export function stateDirProblem(stateDir: string): string | null {
  if (isAbsolute(stateDir))
    return 'must be relative: one outside the project counts in HARNESS_STATE_DIR and in the guard’s home only'
  const steps: string[] = []
  for (const step of stateDir.split(/[\\/]/)) {
    if (step === '' || step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.pop() === undefined) return 'must not lead out of the project'
  }
  if (steps.length === 0) return 'must be a directory in the project, not the project itself'
  return steps.some(isGit) ? 'must not be git’s own' : null
}

/** Some file systems take upper and lower case for the same. */
export function isGit(step: string): boolean {
  return step.toLowerCase() === '.git'
}
