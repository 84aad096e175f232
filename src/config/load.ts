import { dirname, join, resolve } from 'node:path'
import { isFile } from '../io/path-kind.ts'
import { parseYaml, readYaml, type SourceFile } from '../io/yaml.ts'
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
  const path = explicit === undefined ? findUpward(cwd) : resolve(cwd, explicit)
  if (path === null)
    return { root: cwd, config: parseYaml('', 'gantry.yaml', configSchema).value, source: null }
  const source = readYaml(path, configSchema)
  return { root: dirname(path), config: source.value, source }
}

function findUpward(start: string): string | null {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    const found = ['gantry.yaml', 'gantry.yml'].map((name) => join(directory, name)).find(isFile)
    if (found !== undefined) return found
    if (directory === dirname(directory)) return null
  }
}
