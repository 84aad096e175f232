import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { isFile } from '../../io/path-kind.ts'
import { sha256 } from '../../io/sha256.ts'
import { readYaml, type SourceFile } from '../../io/yaml.ts'
import { agentKind } from '../agent-kind.ts'
import type { AgentDriver, AgentInstance } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { runScript } from './run.ts'
import { type Script, type ScriptedAgentConfig, scriptedAgentSchema, scriptSchema } from './schema.ts'

/**
 * An agent without a model. The script is read once, so that the probed script is the one that is played. An invalid
 * script throws GantryError from `probe`, with its position: it is a mistake in a user's file.
 */
export function createScriptedAgent({ name, config, base }: AgentInstance<ScriptedAgentConfig>): AgentDriver {
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
      request.emit({ event: 'spawn', command: 'scripted', args: [path] })
      let script: SourceFile<Script> | null
      try {
        script = load()
      } catch (cause) {
        if (!(cause instanceof GantryError)) throw cause
        return notStarted(name, request, cause.message)
      }
      return script === null
        ? notStarted(name, request, `the script ${path} does not exist.`)
        : runScript(name, script.value, path, request)
    },
  }
}

export const scriptedKind = agentKind({
  schema: scriptedAgentSchema,
  hooks: 'in_process',
  create: createScriptedAgent,
})
