export interface Expansion {
  readonly text: string
  /** Names without a value, each once, in order. They stay in the text as written. */
  readonly missing: readonly string[]
}

/** Replaces `${NAME}` by its value. Nothing else is special: `$NAME` and `$$` stay, and values are not expanded again. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): Expansion {
  const missing = new Set<string>()
  const expanded = text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value === undefined) missing.add(name)
    return value ?? whole
  })
  return { text: expanded, missing: [...missing] }
}

/** An environment as a program can be given it: without the names that have no value. */
export function definedVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
