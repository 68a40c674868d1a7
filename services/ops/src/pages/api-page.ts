import { html } from 'ghtml';
import type { User } from '../access/accounts.ts';
import { layout } from './layout.ts';

/** The interface that clients use, shown by Swagger UI. Nothing can be sent from here. */
export function apiPage(user: User): string {
  return layout({
    title: 'API',
    user,
    at: '/api',
    styles: ['plants.css'],
    scripts: ['api.js'],
    main: html`
    <link rel="stylesheet" href="/api/ui/swagger-ui.css">
    <script src="/api/ui/swagger-ui-bundle.js" defer></script>
    <h1>API</h1>
    <p class="muted">The one operation that clients use, and every answer. As a document: <a href="/openapi.json" download>openapi.json</a>.</p>
    <div class="api" data-api></div>
    <noscript><p>This page needs scripts; the document above does not.</p></noscript>`,
  });
}
