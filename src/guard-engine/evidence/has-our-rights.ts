import { resolve } from 'node:path'
import { isObject, parseObject } from '../../core/json-fields.ts'
import type { Scene } from '../../rules/contract.ts'

/** What the agent may run, the guard may run for it: not where a sandbox confines the agent's commands and not its hooks. */
export function hasOurRights({
  traits: { sandboxSettings },
  world,
  event,
}: Pick<Scene, 'traits' | 'world' | 'event'>): boolean {
  const mayConfine = (path: string): boolean => {
    const text = world.readText(path, maxFileBytes)
    if (text === null || text.trim() === '') return false
    const settings = parseObject(text)
    const sandbox = settings?.sandbox
    return settings === null || (isObject(sandbox) && sandbox.enabled === true)
  }
  const places = sandboxSettings?.map((path) =>
    resolve(
      event.root,
      path.replace(/^\$(\w+)/, (_, name) => world.env[name] || '~/.claude').replace(/^~/, world.home),
    ),
  )
  const files = places?.flatMap((path) => world.list(path)?.map((name) => `${path}/${name}`) ?? [path])
  return files !== undefined && !files.some(mayConfine)
}

const maxFileBytes = 512 * 1024
