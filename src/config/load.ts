import { dirname, resolve } from 'node:path'
import { parseYaml, readYaml, type SourceFile } from '../io/yaml.ts'
import { findConfig } from './find-config.ts'
import { type Config, configSchema } from './schema.ts'

export interface Project {
  /** Directory of gantry.yaml, or the working directory when there is none. */
  readonly root: string
  readonly config: Config
  /** The file the configuration came from; null when all of it is default. */
  readonly source: SourceFile<Config> | null
}

/** The project around a directory. A configuration file that does not load is an error, never a warning. */
export function loadProject(cwd: string, explicit?: string): Project {
  const path = explicit === undefined ? findConfig(cwd) : resolve(cwd, explicit)
  if (path === null)
    return { root: cwd, config: parseYaml('', 'gantry.yaml', configSchema).value, source: null }
  const source = readYaml(path, configSchema)
  return { root: dirname(path), config: source.value, source }
}
