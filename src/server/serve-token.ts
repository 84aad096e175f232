import { join, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { sharedSecret, writePrivateFileAtomic } from '../io/private-files.ts'
import { readShortText } from '../io/read-short-text.ts'

export type ServeToken = ReturnType<typeof serveToken>

export interface TokenSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Path from the flag. */
  readonly file?: string
  readonly root: string
}

const variable = 'GANTRY_SERVE_TOKEN'
const keyBytes = 24

/**
 * The token every request needs: from the flag's file, from the environment, else a token created once in the store and readable only
 * by this user. Servers that start at the same time get the same token. `where` says where to find it, never the token itself;
 * `isGiven`: the user chose it.
 */
export function serveToken({ env, cwd, file, root }: TokenSources) {
  if (file !== undefined) {
    const path = resolve(cwd, file)
    const text = readShortText(path, 4_096)
    if (text === null)
      throw new GantryError('NOT_FOUND', `${path} cannot be read`, { hint: 'Write only the token into it.' })
    return { token: usable(text.trim(), path), where: path, isGiven: true }
  }
  const named = env[variable]
  if (named !== undefined && named !== '')
    return { token: usable(named, variable), where: `the variable ${variable}`, isGiven: true }
  const key = sharedSecret(join(root, 'serve.key'), keyBytes)
  const path = join(root, 'serve-token')
  const token = Buffer.from(key).toString('base64url')
  writePrivateFileAtomic(path, `${token}\n`)
  return { token, where: path, isGiven: false }
}

function usable(token: string, where: string): string {
  if (/^[\w.~+/=-]{16,512}$/.test(token)) return token
  throw new GantryError('USAGE', `the token in ${where} cannot be used`, {
    hint: 'Use 16 to 512 letters, digits and - . _ ~ + / =, for example from: openssl rand -hex 32',
  })
}
