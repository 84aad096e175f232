import { sha256 } from '../../io/sha256.ts'
import { escapeHtml } from './escape-html.ts'
import { script } from './script.ts'
import { style } from './style.ts'

/** The page may run exactly the script and the style it carries, and may ask nobody for anything. */
const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`

export function pageStart(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)} – Gantry</title>
<style>${style}</style>
</head>
<body>
<main>
`
}

export const pageEnd = `</main>
<script>${script}</script>
</body>
</html>
`

function hashOf(text: string): string {
  return `sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}`
}
