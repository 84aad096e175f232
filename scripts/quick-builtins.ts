import type { Plugin } from 'rolldown'

/**
 * Node's modules without the facade that `import` creates. The facade reads every name, even lazy ones such as `fs.promises`.
 * Functions of node:crypto, the slowest to load, are looked up when they are called.
 */
export const quickBuiltins: Plugin = {
  name: 'quick-builtins',
  renderChunk: (code) =>
    code.replaceAll(
      /^import (?:([\w$]+)(?:, (?=\{))?)?(\{.+\})? from "(node:[\w/]+)";$/gm,
      (whole: string, local: string | undefined, names: string | undefined, module: string) => {
        const parts = [local, names].filter((part) => part !== undefined)
        const declared = parts.map((part) => declarations(part, module))
        return declared.includes(null) ? whole : declared.join('\n')
      },
    ),
}

/** null for what only an import gives. */
function declarations(names: string, module: string): string | null {
  const from = `globalThis.process.getBuiltinModule("${module}")`
  if (!names.startsWith('{')) return `const ${names} = ${from};`
  const pairs = names
    .slice(1, -1)
    .split(',')
    .map((each) => each.trim().split(' as '))
    .map(([name = '', local = name]) => ({ name, local }))
  if (pairs.some(({ name }) => name === 'default')) return null
  if (module === 'node:crypto' && pairs.every(({ name }) => /^(?:create|random|hash|timing)/.test(name)))
    return pairs
      .map(({ name, local }) => `const ${local} = (...given) => ${from}.${name}(...given);`)
      .join('\n')
  return `const { ${pairs.map(({ name, local }) => `${name}: ${local}`).join(', ')} } = ${from};`
}
