import { z } from 'zod'
import { pluginConfigSchema } from '../src/plugin/config/keys/schema.ts'
import { pluginVariables } from '../src/plugin/config/plugin-variables.ts'

interface Shape {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: Shape | boolean
  readonly anyOf?: readonly Shape[]
}

/** docs/plugin-config.md: every key of an evaluation's configuration, from the schema itself. */
export function pluginConfigReference(): string {
  const shape = z.toJSONSchema(pluginConfigSchema, { io: 'input', unrepresentable: 'any' }) as Shape
  const rows = keysOf(shape, []).map(({ path, key }) => {
    const name = path.join('.')
    const variable = pluginVariables.find((one) => one.path.join('.') === name)?.name
    return `| \`${name}\` | ${typeOf(key)} | ${defaultOf(key)} | ${cell(key.description ?? '')} | ${variable === undefined ? '' : `\`${variable}\``} |`
  })
  return `# Configuration of plugin evaluation

Generated from the schema by \`npm run generate\`; do not edit. How the sources are joined: [plugin](plugin.md#configuration).

| key | type | default | meaning | variable |
|---|---|---|---|---|
${rows.join('\n')}

See also: [plugin](plugin.md) · [configuration](configuration.md)
`
}

function keysOf(
  shape: Shape,
  path: readonly string[],
): { readonly path: readonly string[]; readonly key: Shape }[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, key]) =>
    key.properties === undefined ? [{ path: [...path, name], key }] : keysOf(key, [...path, name]),
  )
}

function typeOf(key: Shape): string {
  if (key.enum !== undefined) return cell(key.enum.map((value) => `\`${value}\``).join(', '))
  if (key.type === 'array')
    return `list of ${key.items?.enum === undefined ? (key.items?.type ?? 'values') : typeOf(key.items)}`
  if (key.type === 'object') return 'map'
  const range =
    key.minimum === undefined || key.minimum < -1e9
      ? ''
      : ` ${key.minimum}${key.maximum === undefined || key.maximum > 1e15 ? ' and up' : `–${key.maximum}`}`
  return `${key.type ?? 'any'}${range}`
}

function defaultOf({ default: value }: Shape): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
