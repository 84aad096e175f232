import { readYaml } from '../../../io/yaml.ts'
import { type BoundaryScript, boundaryScriptSchema } from './schema.ts'

/** Throws GantryError INVALID_FILE with `file:line:col`, or NOT_FOUND. */
export function readBoundaryScript(path: string): BoundaryScript {
  return readYaml(path, boundaryScriptSchema).value
}
