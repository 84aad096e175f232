import { dirname, resolve } from 'node:path'
import type { AgentDefinition } from '../agents/module/define-agent.ts'
import type { GateDefinition } from '../gates/define-gate.ts'
import { parseYaml, readYaml, type SourceFile } from '../io/yaml.ts'
import { findConfig } from './find-config.ts'
import { type Config, configSchema } from './schema.ts'

export interface Project {
  /** Directory of gantry.yaml, or the working directory when there is none. */
  readonly root: string
  readonly config: Config
  /** The file that was read; null when everything is default. */
  readonly source: SourceFile<Config> | null
  /** Gates and agents that a caller of the library passed in as values, besides those of the file. */
  readonly passedIn?: PassedIn
}

export interface PassedIn {
  readonly gates?: readonly GateDefinition[]
  /** By the name that `agents` of a request uses. */
  readonly agents?: Readonly<Record<string, AgentDefinition>>
}

/** The project of a directory. A configuration file that does not load is an error, never a warning. */
export function loadProject(cwd: string, explicit?: string): Project {
  const path = explicit === undefined ? findConfig(cwd) : resolve(cwd, explicit)
  const source = path === null ? null : readYaml(path, configSchema)
  const config = source?.value ?? parseYaml('', 'gantry.yaml', configSchema).value
  const { agents, arms, profiles } = config
  return {
    root: path === null ? cwd : dirname(path),
    config: { ...config, agents: own(agents), arms: own(arms), profiles: own(profiles) },
    source,
  }
}

/** Without names that every object has, such as `constructor`. */
function own<Value>(map: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.assign(Object.create(null), map)
}
