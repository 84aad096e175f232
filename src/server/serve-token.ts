import { join, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { sharedSecret, writePrivateAtomic } from '../io/private-store.ts'
import { readShortText } from '../io/read-short-text.ts'

export interface ServeToken {
  readonly token: string
  /** Where a person finds it, in words; never the token. */
  readonly where: string
  /** The user chose it; it was not created here. */
  readonly isGiven: boolean
}

export interface TokenSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Of the flag. */
  readonly file?: string
  /** Directory of the store. */
  readonly root: string
}

const variable = 'GANTRY_SERVE_TOKEN'
const keyBytes = 24

/**
 * The token every request needs: of the flag's file, of the environment, else one that is made once and kept in the store for
 * this user alone. Servers that start at the same time get the same.
 */
export function serveToken({ env, cwd, file, root }: TokenSources): ServeToken {
  if (file !== undefined) {
    const path = resolve(cwd, file)
    const text = readShortText(path, 4_096)
    if (text === null)
      throw new GantryError('NOT_FOUND', `${path} cannot be read`, {
        hint: 'Write the token into it, and nothing else.',
      })
    return { token: usable(text.trim(), path), where: path, isGiven: true }
  }
  const named = env[variable]
  if (named !== undefined && named !== '')
    return { token: usable(named, variable), where: `the variable ${variable}`, isGiven: true }
  const key = sharedSecret(join(root, 'serve.key'), keyBytes)
  const path = join(root, 'serve-token')
  const token = Buffer.from(key).toString('base64url')
  writePrivateAtomic(path, `${token}\n`)
  return { token, where: path, isGiven: false }
}

function usable(token: string, where: string): string {
  if (/^[\w.~+/=-]{16,512}$/.test(token)) return token
  throw new GantryError('USAGE', `the token in ${where} cannot be used`, {
    hint: 'Use 16 to 512 letters, digits and - . _ ~ + / =, for example of: openssl rand -hex 32',
  })
}
