/** Draws docs/openapi.json with Swagger UI, without its buttons that would send requests. */
addEventListener('load', () => {
  globalThis.SwaggerUIBundle({
    url: '/openapi.json',
    domNode: document.querySelector('[data-api]'),
    supportedSubmitMethods: [],
    validatorUrl: null,
    defaultModelsExpandDepth: 2,
    docExpansion: 'full',
  });
});
