/** As Claude Code makes a name of the directory of a skill. */
export function skillName(directory: string): string {
  return directory.replaceAll(/[^A-Za-z0-9_-]/g, '-')
}

/** `demo:deploy:staging`. */
export function cliName(plugin: string, parts: readonly string[]): string {
  return [plugin, ...parts].join(':')
}

/** The names of servers become part of the names of tools, in which only these characters are allowed. */
export function toolPart(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

/** Gives every component a name no other has: the first one that is free, else the last with a number. */
export function createNames(): (...wanted: readonly [string, ...string[]]) => string {
  const taken = new Set<string>()
  const numbers = new Map<string, number>()
  return (...wanted) => {
    const last = wanted.at(-1) ?? wanted[0]
    let name = wanted.find((each) => !taken.has(each)) ?? last
    for (let number = numbers.get(last) ?? 2; taken.has(name); number += 1) {
      name = `${last}#${number}`
      numbers.set(last, number + 1)
    }
    taken.add(name)
    return name
  }
}
