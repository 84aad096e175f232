export type Variables = Readonly<Record<string, string | undefined>>

/** Replaces `${NAME}` by its value. Nothing else is special: `$NAME` and `$$` stay, and values are not expanded again. */
export function expandVariables(text: string, env: Variables) {
  /** Names without a value, in order. They stay in the text as written. */
  const missing = new Set<string>()
  const expanded = text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value === undefined) missing.add(name)
    return value ?? whole
  })
  return { text: expanded, missing: [...missing] }
}

/** An environment without undefined values, as a process expects it. */
export function definedVariables(env: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** All values with the current values of the variables in them. */
export function expandValues(
  values: Readonly<Record<string, string>>,
  env: Variables,
): Record<string, string> {
  const expanded = Object.entries(values).map(([name, value]) => [name, expandVariables(value, env).text])
  return Object.fromEntries(expanded)
}
