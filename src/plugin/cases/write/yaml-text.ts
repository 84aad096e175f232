import { stringify } from 'yaml'

/** Keys and values as YAML; keys whose value is undefined are left out. Texts of several lines stay on one, with escapes. */
export function yamlText(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields, {
    lineWidth: 0,
    singleQuote: true,
    blockQuote: false,
    compat: 'yaml-1.1',
    doubleQuotedAsJSON: true,
  })
}
