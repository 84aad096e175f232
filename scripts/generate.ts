// Writes the files generated from the source: schemas/*.json with the OpenAPI document, docs/cli.md and docs/plugin-config.md.
// With --check it only reports what is out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cliReference } from './cli-reference.ts'
import { jsonSchemas } from './json-schemas.ts'
import { openApiFile } from './openapi.ts'
import { pluginConfigReference } from './plugin-config-reference.ts'
import { webClientFile } from './web-client.ts'

const root = join(import.meta.dirname, '..')
const files: Record<string, string> = {
  ...jsonSchemas(),
  ...openApiFile(),
  ...webClientFile(),
  'docs/cli.md': await cliReference(),
  'docs/plugin-config.md': pluginConfigReference(),
}
const stale = Object.entries(files).filter(([file, text]) => read(join(root, file)) !== text)

if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is out of date; run: npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [file, text] of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
    console.log(`wrote ${file}`)
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
