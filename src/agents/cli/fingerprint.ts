import { resolve } from 'node:path'
import { contentHash, fileHash, fileIdentity } from '../../io/content-hash.ts'
import { pathKind } from '../../io/path-kind.ts'
import { treeHash } from '../../io/tree-hash.ts'

export interface FingerprintSource {
  readonly driver: string
  readonly config: { readonly binary?: string | undefined }
  readonly base: string
  readonly version: string | null
  /** Files and directories whose content matters; relative ones start at `base`. */
  readonly inputs: readonly string[]
}

/** Everything the behaviour can depend on that we can see: settings, version, and what the settings name. */
export async function fingerprintOf({
  driver,
  config,
  base,
  version,
  inputs,
}: FingerprintSource): Promise<string> {
  const own = config.binary?.includes('/') === true ? [fileIdentity(resolve(base, config.binary))] : []
  const contents: string[] = [...own]
  for (const path of inputs) contents.push(await hashOf(resolve(base, path)))
  return contentHash([driver, JSON.stringify(config), version ?? '', ...contents])
}

async function hashOf(path: string): Promise<string> {
  switch (pathKind(path)) {
    case 'file':
      return fileHash(path) ?? ''
    case 'directory':
      return (await treeHash(path)).hash
    default:
      return ''
  }
}
