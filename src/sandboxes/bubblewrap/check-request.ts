import { isAbsolute, normalize } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { isDirectory } from '../../io/path-kind.ts'
import type { SandboxRequest } from '../contract.ts'

/** Throws for a request that can never work; a sentence about what is missing now; null when all is well. */
export function checkRequest({ image, repository, artifacts, caches }: SandboxRequest): string | null {
  for (const { target } of caches)
    if (!isAbsolute(target) || normalize(target) !== target || taken.test(target))
      throw new GantryError('USAGE', `a cache cannot be mounted at ${JSON.stringify(target)}`, {
        hint: 'Choose an absolute path below /tmp, /root or /home.',
      })
  const sources = [repository, artifacts, ...caches.map(({ source }) => source)]
  const missing = sources.find((source) => !isDirectory(source))
  if (missing !== undefined) return `${missing} is no directory that can be mounted.`
  return image.startsWith('/') ? problemOfTree(image) : null
}

/** Places that the engine itself fills. */
const taken = /^\/(?:$|(?:workspace|artifacts|tmp|etc|usr|bin|sbin|lib\w*)$|(?:proc|dev|sys)(?:\/|$)|.*\/$)/

function problemOfTree(tree: string): string | null {
  const lacking = ['', '/proc', '/dev', '/tmp', '/workspace', '/artifacts'].filter(
    (name) => !isDirectory(`${tree}${name}`),
  )
  return lacking.length === 0
    ? null
    : `${tree} cannot be the root directory: it lacks ${lacking.map((name) => name || 'itself').join(', ')}.`
}
