import { GantryError } from '../core/error.ts'
import { type OwnGate, readGateDefinition, readGateDefinitions } from '../gates/define-gate.ts'
import { gates as builtIn } from '../gates/index.ts'
import { importModule } from '../io/import-module.ts'
import type { Project } from './load.ts'

/**
 * The gates of the user: those of the modules under `gates` in gantry.yaml, then those that a caller of the library passed in. Throws
 * GantryError, at the line of gantry.yaml, for a module that is not there, does not load or does not define a gate.
 */
export async function loadOwnGates(project: Project): Promise<readonly OwnGate[]> {
  const own: OwnGate[] = []
  for (const [index, path] of project.config.gates.entries()) {
    const found = await importModule({
      path,
      base: project.root,
      relativeTo: 'the directory of gantry.yaml',
      what: 'a gate',
      hint: 'Write: export default defineGate({ type, check }), or a list of such gates.',
      read: readGateDefinitions,
    })
    const at = project.source?.positionOf(['gates', index])
    if (found.kind !== 'loaded')
      throw new GantryError(found.kind === 'missing' ? 'NOT_FOUND' : 'INVALID_FILE', found.message, {
        hint: found.hint,
        cause: found.cause,
        ...(at !== undefined && { at }),
      })
    for (const definition of found.value) {
      const problem = nameProblem(definition.type, own)
      if (problem !== null)
        throw new GantryError('INVALID_FILE', `${path}: ${problem}`, {
          hint: 'Give the gate a unique type.',
          ...(at !== undefined && { at }),
        })
      own.push({ definition, fingerprint: found.fingerprint })
    }
  }
  for (const value of project.passedIn?.gates ?? []) {
    const definition = readGateDefinition(value)
    const problem = typeof definition === 'string' ? definition : nameProblem(definition.type, own)
    if (typeof definition === 'string' || problem !== null)
      throw new GantryError('USAGE', `'gates' has an entry that cannot be used: ${problem}`, {
        hint: 'Create each entry with defineGate, and give it a unique type.',
      })
    own.push({ definition, fingerprint: null })
  }
  return own
}

function nameProblem(type: string, own: readonly OwnGate[]): string | null {
  if (builtIn.some((gate) => gate.type === type)) return `the gate type '${type}' is built in`
  if (own.some(({ definition }) => definition.type === type))
    return `the gate type '${type}' is defined twice`
  return null
}
