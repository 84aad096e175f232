import { basename, extname } from 'node:path/posix'
import picomatch from 'picomatch'

const binary = new Set(
  `png jpg jpeg gif ico svg bmp webp tiff tif
  exe dll so dylib a o obj pyc pyo class wasm
  zip tar gz bz2 xz 7z rar jar war ear
  ttf otf woff woff2 eot
  mp3 mp4 avi mkv mov wav flac ogg
  pdf doc docx xls xlsx ppt pptx
  db sqlite sqlite3
  bin dat pickle pkl npy npz parquet feather`.split(/\s+/),
)

const secretNames = [
  '.env',
  '.env.*',
  '*.env',
  '*credentials*',
  '*secret*',
  '*.pem',
  '*.key',
  '*.crt',
  '*.p12',
  '*.pfx',
  'id_rsa*',
  'id_dsa*',
  'id_ed25519*',
  '.htpasswd',
  '.netrc',
  '.npmrc',
  '.pypirc',
]

const directories = new Set(
  `.git .svn .hg node_modules __pycache__ .tox .nox .venv venv env .env virtualenv .mypy_cache .pytest_cache .ruff_cache .coverage htmlcov
  dist build target .next .nuxt out .idea .vscode __MACOSX`.split(/\s+/),
)

const systemFiles = new Set(['.ds_store', 'thumbs.db', 'desktop.ini'])

const isSecret = picomatch(secretNames, { nocase: true, dot: true })

/** Whether no Scout may see a file of the repository: no text, a secret, or somebody else's. `path` is relative, with `/`. */
export function isExcluded(path: string): boolean {
  const parts = path.split('/')
  if (path === '' || path.startsWith('/') || parts.includes('..')) return true
  if (parts.slice(0, -1).some((part) => directories.has(part) || isSecret(part))) return true
  const name = basename(path)
  return (
    binary.has(extname(name).slice(1).toLowerCase()) || systemFiles.has(name.toLowerCase()) || isSecret(name)
  )
}
