import { readdirSync, readFileSync } from 'node:fs'

/** Every process that came from this one and is still below it. */
export function descendantsOf(pid: number): readonly number[] {
  const children = Map.groupBy(
    readdirSync('/proc').filter((name) => /^\d+$/.test(name)),
    parentOf,
  )
  const below = (id: number): readonly number[] =>
    (children.get(id) ?? []).flatMap((name) => [Number(name), ...below(Number(name))])
  return below(pid)
}

/** 0 when it is gone. */
function parentOf(name: string): number {
  try {
    // The program name is in parentheses and may contain any character.
    const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(parent)
  } catch {
    return 0
  }
}
