/** The name Claude Code derives from the directory of a skill. */
export function skillName(directory: string): string {
  return directory.replaceAll(/[^A-Za-z0-9_-]/g, '-')
}

/** `demo:deploy:staging`. */
export function cliName(plugin: string, parts: readonly string[]): string {
  return [plugin, ...parts].join(':')
}

/** Server names become part of tool names, which allow only these characters. */
export function toolPart(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

/** Gives every component a unique name: the first free candidate, else the last one with a number. */
export type ComponentNames = (...wanted: readonly [string, ...string[]]) => string

export function createComponentNames(): ComponentNames {
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
