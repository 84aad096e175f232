import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { isFile } from '../../io/path-kind.ts'
import { sha256 } from '../../io/sha256.ts'
import { readYaml, type SourceFile } from '../../io/yaml.ts'
import { agentKind } from '../agent-kind.ts'
import type { AgentDriver } from '../contract.ts'
import { refuseToRun, runScript } from './run.ts'
import { type Script, type ScriptedAgentConfig, scriptedAgentSchema, scriptSchema } from './schema.ts'

interface ScriptedAgent {
  /** The name the user gave it. */
  readonly name: string
  readonly config: ScriptedAgentConfig
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
}

/**
 * An agent without a model. The script is read once, so that what is probed is what is played. A script that does not fit
 * its schema throws GantryError from `probe`, with its position: it is a mistake in a file of the user.
 */
export function createScriptedAgent({ name, config, base }: ScriptedAgent): AgentDriver {
  const path = resolve(base, config.script)
  let loaded: SourceFile<Script> | null = null
  const load = (): SourceFile<Script> | null => {
    if (loaded === null && isFile(path)) loaded = readYaml(path, scriptSchema)
    return loaded
  }
  return {
    name: 'scripted',
    async probe() {
      const script = load()
      const found = script !== null
      return {
        found,
        version: script?.value.version ?? null,
        authenticated: true,
        fingerprint: sha256(script?.text ?? ''),
        ...(found ? {} : { problem: `the script ${path} does not exist.` }),
      }
    },
    async run(request) {
      let script: SourceFile<Script> | null
      try {
        script = load()
      } catch (cause) {
        if (!(cause instanceof GantryError)) throw cause
        return refuseToRun(path, request, `agent ${name}: ${cause.message}`)
      }
      if (script === null)
        return refuseToRun(path, request, `agent ${name}: the script ${path} does not exist.`)
      return runScript(script.value, path, request)
    },
  }
}

export const scriptedKind = agentKind({
  schema: scriptedAgentSchema,
  hooks: 'in_process',
  create: createScriptedAgent,
})
