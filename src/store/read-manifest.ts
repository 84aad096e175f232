import { GantryError } from '../core/error.ts'
import { readTextIfExists } from '../io/directory.ts'
import type { Manifest } from './contract.ts'
import { parseManifest } from './manifest.ts'
import { parseJson } from './parse-json.ts'
import { runFile } from './run-paths.ts'

/** `missing`: made by an older tool with a manifest of its own or none, or killed before it was written. */
export type ManifestState =
  | { readonly kind: 'whole'; readonly manifest: Manifest }
  | { readonly kind: 'missing' }
  | { readonly kind: 'damaged' }

export function readManifestState(runDir: string): ManifestState {
  const text = readTextIfExists(runFile.manifest(runDir))
  if (text === null) return { kind: 'missing' }
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && !('schema_version' in value)) return { kind: 'missing' }
  const manifest = parseManifest(value)
  return manifest === null ? { kind: 'damaged' } : { kind: 'whole', manifest }
}

/** Throws GantryError NOT_FOUND or CORRUPT. */
export function readManifest(runDir: string): Manifest {
  const state = readManifestState(runDir)
  switch (state.kind) {
    case 'whole':
      return state.manifest
    case 'missing':
      throw new GantryError('NOT_FOUND', `${runDir} has no manifest of ours`, {
        hint: 'It was made by an older tool or its process was killed at the very start; "gantry runs clean" removes it in time.',
      })
    case 'damaged':
      throw new GantryError('CORRUPT', `${runFile.manifest(runDir)} is damaged`, {
        hint: 'Restore the file from a copy, or remove the run with "gantry runs clean --all".',
      })
  }
}
